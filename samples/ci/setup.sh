#!/bin/sh
# setup.sh FOLDER: CUDA's compiler from NVIDIA's packages, and ptxopt built from $PTXOPT_SOURCE, at the commit, tag or branch $PTXOPT_REF
# (HEAD), into FOLDER/bin. For a container of Debian 12, as root. A FOLDER/bin/ptxopt of that commit that is there already, from a cache,
# is not built again.
set -eu
folder=$1
cuda=${CUDA_VERSION-13-0}
export DEBIAN_FRONTEND=noninteractive

apt-get -q update
apt-get -q -y install --no-install-recommends ca-certificates curl git python3 g++
if ! [ -x /usr/local/cuda/bin/ptxas ]; then
  keyring=https://developer.download.nvidia.com/compute/cuda/repos/debian12/x86_64/cuda-keyring_1.1-1_all.deb
  curl -fsSL --retry 3 -o /tmp/cuda-keyring.deb "$keyring"
  dpkg -i /tmp/cuda-keyring.deb
  apt-get -q update
  apt-get -q -y install --no-install-recommends "cuda-nvcc-$cuda" "cuda-cudart-dev-$cuda"
fi

# The libraries that ptxopt needs are not in the cache.
source=$(mktemp -d)
git init -q "$source"
git -C "$source" fetch -q --depth 1 "$PTXOPT_SOURCE" "${PTXOPT_REF-HEAD}"
git -C "$source" checkout -q FETCH_HEAD
commit=$(git -C "$source" rev-parse HEAD)
"$source/cmake/install-packages.sh" build
if [ "$(cat "$folder/commit" 2>/dev/null)" != "$commit" ] || ! "$folder/bin/ptxopt" --version; then
  mkdir -p "$folder/bin"
  cmake -S "$source" --preset release -D PTXOPT_TESTS=OFF
  cmake --build "$source/build/release" --target ptxopt_tool
  cp "$source/build/release/ptxopt" "$folder/bin/"
  echo "$commit" > "$folder/commit"
fi
