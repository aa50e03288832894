import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { app } from 'electron'
import { hiddenFlag } from './start-mode.ts'

/** Whether the app starts at login. */
export function startsAtLogin(): boolean {
  if (process.platform !== 'linux') return app.getLoginItemSettings({ args: [hiddenFlag] }).openAtLogin
  try {
    return !/^Hidden=true$/m.test(readFileSync(autostartFile(), 'utf8'))
  } catch {
    // Without a readable autostart file, the desktop starts nothing.
    return false
  }
}

/**
 * Whether macOS started the app at login. Login items of macOS have no arguments (Electron's `Settings.args` is for
 * Windows only).
 */
export function wasOpenedAtLogin(): boolean {
  return process.platform === 'darwin' && app.getLoginItemSettings().wasOpenedAtLogin
}

/** Sets whether the app starts at login. @throws errors of the file system if the entry cannot be written */
export function setStartsAtLogin(starts: boolean): void {
  if (process.platform !== 'linux') return app.setLoginItemSettings({ openAtLogin: starts, args: [hiddenFlag] })
  const file = autostartFile()
  if (!starts) return rmSync(file, { force: true })
  mkdirSync(join(file, '..'), { recursive: true })
  writeFileSync(file, autostartEntry(command()))
}

/**
 * Returns the path of the autostart entry (Desktop Application Autostart Specification: `$XDG_CONFIG_HOME/autostart`).
 */
function autostartFile(): string {
  return join(process.env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'autostart', 'roomdesk.desktop')
}

/**
 * Returns the command that starts this app. If the app runs from an AppImage, the command contains the AppImage file,
 * because the mount point is temporary; in development, it contains the source folder.
 */
function command(): string[] {
  const program = process.env.APPIMAGE ?? app.getPath('exe')
  return app.isPackaged ? [program, hiddenFlag] : [program, app.getAppPath(), hiddenFlag]
}

/** Returns the text of a Desktop Entry, with each argument quoted as specified (section "The Exec key"). */
export function autostartEntry(argv: readonly string[]): string {
  const quote = (argument: string): string =>
    `"${argument.replaceAll(/["`$\\]/g, (character) => `\\${character}`).replaceAll('%', '%%')}"`
  // Escapes backslashes a second time, as required in every string value of the file.
  const exec = argv.map(quote).join(' ').replaceAll('\\', '\\\\')
  const lines = ['[Desktop Entry]', 'Type=Application', 'Version=1.5', 'Name=Roomdesk', `Exec=${exec}`, 'Icon=roomdesk']
  return [...lines, 'Terminal=false', 'StartupNotify=false', 'X-GNOME-Autostart-enabled=true', ''].join('\n')
}
