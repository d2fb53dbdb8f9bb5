const $ = id => document.getElementById(id);
const plural = (n, word) => `${n.toLocaleString('en')} ${word}${n === 1 ? '' : 's'}`;

function make(parent, tag, properties = {}, ...children) {
  const e = Object.assign(document.createElement(tag), properties);
  e.append(...children);
  if (parent) parent.appendChild(e);
  return e;
}
