import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { app } from 'electron'
import { hiddenFlag } from './start-mode.ts'

/** Tells whether the app starts at login. */
export function startsAtLogin(): boolean {
  if (process.platform !== 'linux') return app.getLoginItemSettings({ args: [hiddenFlag] }).openAtLogin
  try {
    return !/^Hidden=true$/m.test(readFileSync(autostartFile(), 'utf8'))
  } catch {
    // Without a readable file the desktop starts nothing.
    return false
  }
}

/** Tells whether macOS started the app at login: its login items have no arguments (Electron's `Settings.args` is for Windows only). */
export function wasOpenedAtLogin(): boolean {
  return process.platform === 'darwin' && app.getLoginItemSettings().wasOpenedAtLogin
}

/** @throws errors of the file system if the entry cannot be written */
export function setStartsAtLogin(starts: boolean): void {
  if (process.platform !== 'linux') return app.setLoginItemSettings({ openAtLogin: starts, args: [hiddenFlag] })
  const file = autostartFile()
  if (!starts) return rmSync(file, { force: true })
  mkdirSync(join(file, '..'), { recursive: true })
  writeFileSync(file, autostartEntry(command()))
}

/** Desktop Application Autostart Specification: `$XDG_CONFIG_HOME/autostart`. */
function autostartFile(): string {
  return join(process.env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'autostart', 'roomdesk.desktop')
}

/** Program that starts this app: the AppImage file if it runs from one (its mount point is temporary), the folder of the sources in development. */
function command(): string[] {
  const program = process.env.APPIMAGE ?? app.getPath('exe')
  return app.isPackaged ? [program, hiddenFlag] : [program, app.getAppPath(), hiddenFlag]
}

/** Makes a Desktop Entry; quotes each argument by its specification (section "The Exec key"). */
export function autostartEntry(argv: readonly string[]): string {
  const quote = (argument: string): string =>
    `"${argument.replaceAll(/["`$\\]/g, (character) => `\\${character}`).replaceAll('%', '%%')}"`
  // Escapes backslashes once more, as in every string value of the file.
  const exec = argv.map(quote).join(' ').replaceAll('\\', '\\\\')
  const lines = ['[Desktop Entry]', 'Type=Application', 'Version=1.5', 'Name=Roomdesk', `Exec=${exec}`, 'Icon=roomdesk']
  return [...lines, 'Terminal=false', 'StartupNotify=false', 'X-GNOME-Autostart-enabled=true', ''].join('\n')
}
