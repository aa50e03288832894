// Start at login, by platform: Windows identifies an item by its program and arguments, macOS ignores arguments, Linux has none.
let item

const argumentsOf = (args = []) => JSON.stringify(args)

export function setLoginItem({ openAtLogin = false, args }) {
  if (process.platform === 'linux') return
  item = openAtLogin ? { args: argumentsOf(args) } : undefined
}

/** @param {{args?: string[]}} [options] Windows looks for exactly these arguments */
export function loginItem({ args } = {}) {
  if (process.platform === 'win32') {
    const executableWillLaunchAtLogin = item !== undefined
    return { openAtLogin: item?.args === argumentsOf(args), executableWillLaunchAtLogin, launchItems: [] }
  }
  const wasOpenedAtLogin = process.platform === 'darwin' && process.env.STANDIN_OPENED_AT_LOGIN === '1'
  return { openAtLogin: item !== undefined, wasOpenedAtLogin, launchItems: [] }
}
