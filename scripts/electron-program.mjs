// Where Electron's binary is, and what keeps it from opening a window.
import { existsSync, readFileSync, statSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'

export const electronHome = join(import.meta.dirname, '..', 'node_modules', 'electron')

/** Folder of the distribution: the one that `ELECTRON_OVERRIDE_DIST_PATH` names, or the package's own. */
export const electronFolder = () => process.env.ELECTRON_OVERRIDE_DIST_PATH ?? join(electronHome, 'dist')

/** @returns {string | undefined} Electron's executable, where it is present */
export function electronProgram() {
  const { ELECTRON_OVERRIDE_DIST_PATH: override } = process.env
  if (override === undefined) return installedProgram(electronHome)
  const pathFile = join(electronHome, 'path.txt')
  const path = join(override, existsSync(pathFile) ? readFileSync(pathFile, 'utf8').trim() : 'electron')
  return existsSync(path) ? path : undefined
}

/**
 * The executable that a package installed, whole: its file `path.txt` is written when everything is extracted.
 * @param {string} home folder of the package @returns {string | undefined}
 */
export function installedProgram(home) {
  try {
    const { version } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'))
    const found = readFileSync(join(home, 'dist/version'), 'utf8').trim().replace(/^v/, '')
    const path = join(home, 'dist', readFileSync(join(home, 'path.txt'), 'utf8').trim())
    return found === version && existsSync(path) ? path : undefined
  } catch {
    return undefined
  }
}

/** @param {string} path @returns {string} its trimmed content; empty where there is none */
function readFact(path) {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return ''
  }
}

/**
 * Tells whether Chromium finds no sandbox: neither namespaces of its own, which Ubuntu since 24.04 gives only to programs with an AppArmor profile, nor the
 * helper that belongs to root.
 * @param {string} root folder of the system's files @param {string} folder of the distribution
 */
export function hasNoSandbox(root, folder) {
  const fact = (path) => readFact(join(root, 'proc/sys', path))
  const closed =
    fact('kernel/apparmor_restrict_unprivileged_userns') === '1' ||
    fact('kernel/unprivileged_userns_clone') === '0' ||
    fact('user/max_user_namespaces') === '0'
  if (!closed) return false
  const helper = statSync(join(folder, 'chrome-sandbox'), { throwIfNoEntry: false })
  return helper === undefined || helper.uid !== 0 || (helper.mode & 0o4000) === 0
}

/**
 * Tells whether the socket of a Wayland display is there: the variable outlives it in terminals of other users and sessions.
 * @param {string} root folder of the system's files @param {NodeJS.ProcessEnv} env
 */
function hasWayland(root, { WAYLAND_DISPLAY: display = '', XDG_RUNTIME_DIR: folder }) {
  if (isAbsolute(display)) return existsSync(join(root, display))
  return folder !== undefined && existsSync(join(root, folder, display))
}

/**
 * Says why a window of Electron cannot open here, and what would mend it.
 * @param {import('./electron-program.d.mts').Session} session this process, on this machine
 * @returns {{ reason: string, mend: string } | undefined}
 */
export function noWindow(session = {}) {
  const { root = '/', folder = electronFolder(), env = process.env, flags = process.argv } = session
  if (process.platform !== 'linux' || env.ELECTRON_OVERRIDE_DIST_PATH) return undefined
  if (!env.DISPLAY && !env.WAYLAND_DISPLAY) {
    const mend = 'for a window, start it in a desktop session'
    return { reason: 'There is no display', mend }
  }
  if (!env.DISPLAY && !hasWayland(root, env)) {
    const mend = 'for a window, start it in a terminal of the desktop session, as its user'
    return { reason: `The Wayland display ${env.WAYLAND_DISPLAY} is not here`, mend }
  }
  if (flags.includes('--no-sandbox')) return undefined
  // Chromium has no sandbox for root, and ends.
  if ((session.uid ?? process.getuid?.()) === 0)
    return { reason: 'The desktop app does not run as root', mend: 'for a window, start it as the user of the desktop' }
  if (hasNoSandbox(root, folder)) {
    const helper = join(folder, 'chrome-sandbox')
    const mend = `for a window, install the .deb, which brings an AppArmor profile, or run: sudo chown root ${helper} && sudo chmod 4755 ${helper}`
    return { reason: 'This system gives Chromium no sandbox', mend }
  }
  return undefined
}
