// Compiled once for every test program.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "library.hpp"
