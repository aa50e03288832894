/** Quotes an argument for the command line parser of Windows programs (CommandLineToArgvW). */
export function quotedForWindows(argument: string): string {
  if (/^[^\s"]+$/.test(argument)) return argument
  return `"${argument.replaceAll(/(\\*)"/g, '$1$1\\"').replace(/\\+$/, (slashes) => slashes + slashes)}"`
}
