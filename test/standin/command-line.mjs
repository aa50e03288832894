// The command line, as Electron looks at it before it starts.

/** A scheme of more than one letter, which no drive of Windows has. */
const beginsLikeUrl = /^[A-Za-z][^\s:]+:/

/**
 * Ends the process without a word, as on Windows (electron_main_win.cc): where an argument follows one that begins like a URL, a page may have opened the program with
 * arguments of its choice (command_line_args.cc, `CheckCommandLineArguments`).
 */
export function refuseArgumentAfterUrl(given) {
  const end = given.indexOf('--')
  const read = end < 0 ? given : given.slice(0, end)
  if (read.slice(0, -1).some((argument) => beginsLikeUrl.test(argument))) process.exit(-1)
}
