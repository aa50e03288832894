// Windowing system of the process on Linux: X11, Wayland, or none.

/** Value of the switch when the process started. Electron reads it before it runs the app (electron_main_delegate.cc, `PreSandboxStartup`): a switch appended later has no effect. */
const platformOf = (argv) => argv.findLast((argument) => argument.startsWith('--ozone-platform='))?.split('=')[1]

/** On Wayland no program learns where its windows are. Chromium chooses it by this switch, or by the session, and then adds the switch. */
export const isWayland = () => platformOf(process.argv) === 'wayland'

/**
 * Ends the process if it finds no display. Chromium looks for it once the app's main module was evaluated: `BrowserMainRunnerImpl::Initialize` calls `EarlyInitialization`,
 * in which Electron loads the app and waits for it (electron_browser_main_parts.cc, `JoinAppCode`), and then `InitializeToolkit` (ozone_platform_x11.cc, `InitializeUI`).
 */
export function requireDisplay(argv, { DISPLAY, WAYLAND_DISPLAY }) {
  if (process.platform !== 'linux' || platformOf(argv) === 'headless' || DISPLAY || WAYLAND_DISPLAY) return
  process.stderr.write('Missing X server or $DISPLAY\nThe platform failed to initialize.  Exiting.\n')
  process.exit(1)
}
