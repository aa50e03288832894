// Where Electron's binary is, and what keeps it from opening a window.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const electronHome = join(import.meta.dirname, '..', 'node_modules', 'electron')

/** Folder of the distribution: the one that `ELECTRON_OVERRIDE_DIST_PATH` names, or the package's own. */
export const electronFolder = () => process.env.ELECTRON_OVERRIDE_DIST_PATH ?? join(electronHome, 'dist')

/** @returns {string | undefined} Electron's executable, where it is present */
export function electronProgram() {
  const pathFile = join(electronHome, 'path.txt')
  const name = existsSync(pathFile) ? readFileSync(pathFile, 'utf8').trim() : 'electron'
  const path = join(electronFolder(), name)
  return existsSync(path) ? path : undefined
}

/** @returns {string | undefined} why a window of Electron cannot open here */
export function noWindow() {
  if (process.platform !== 'linux' || process.env.ELECTRON_OVERRIDE_DIST_PATH) return undefined
  if (!process.env.DISPLAY && !process.env.WAYLAND_DISPLAY) return 'There is no display'
  // Chromium has no sandbox for root, and ends.
  const unsafe = process.getuid?.() === 0 && !process.argv.includes('--no-sandbox')
  return unsafe ? 'The desktop app does not run as root' : undefined
}
