/** Quotes an argument as programs of Windows read their command line (CommandLineToArgvW). */
export function quotedForWindows(argument: string): string {
  if (/^[^\s"]+$/.test(argument)) return argument
  return `"${argument.replaceAll(/(\\*)"/g, '$1$1\\"').replace(/\\+$/, (slashes) => slashes + slashes)}"`
}
