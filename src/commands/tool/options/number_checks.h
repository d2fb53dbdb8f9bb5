// Checks of numbers that have a least value and no largest one, with messages of their own: CLI11's name the largest
// double, in 309 digits.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace ptxopt::tool {

// Above 0.
std::string checkPositive(const std::string& text);
inline CLI::Validator positiveNumber() { return {checkPositive, ""}; }

// 0 or above.
std::string checkNotNegative(const std::string& text);
inline CLI::Validator numberNotNegative() { return {checkNotNegative, ""}; }

// Whole, from 0 to 2^64 - 1, also in hexadecimal: CLI11 wraps what is below and takes the largest for what is above.
std::string checkWhole(const std::string& text);
inline CLI::Validator wholeNumber() { return {checkWhole, ""}; }

}  // namespace ptxopt::tool
