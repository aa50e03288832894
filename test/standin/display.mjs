// Windowing system of the process on Linux: X11, Wayland, or none.

/** Value of the switch when the process started. Electron reads it before it runs the app (electron_main_delegate.cc, `PreSandboxStartup`): a switch appended later has no effect. */
const platformOf = (argv) => argv.findLast((argument) => argument.startsWith('--ozone-platform='))?.split('=')[1]

/**
 * Platform that Chromium uses on Linux: that of the switch, or else of the session. It adds the switch to its command line before it runs the app (display_server_utils.cc,
 * `SetOzonePlatformForLinuxIfNeeded`, of Chromium 150).
 */
export const ozonePlatform = () =>
  platformOf(process.argv) ?? (process.env.XDG_SESSION_TYPE === 'wayland' ? 'wayland' : 'x11')

/** On Wayland no program learns where its windows are. */
export const isWayland = () => ozonePlatform() === 'wayland'

/**
 * Ends the process if it finds no display. Chromium looks for it once the app's main module was evaluated: `BrowserMainRunnerImpl::Initialize` calls `EarlyInitialization`,
 * in which Electron loads the app and waits for it (electron_browser_main_parts.cc, `JoinAppCode`), and then `InitializeToolkit` (ozone_platform_x11.cc, `InitializeUI`).
 */
export function requireDisplay(argv, { DISPLAY, WAYLAND_DISPLAY }) {
  if (process.platform !== 'linux' || platformOf(argv) === 'headless' || DISPLAY || WAYLAND_DISPLAY) return
  process.stderr.write('Missing X server or $DISPLAY\nThe platform failed to initialize.  Exiting.\n')
  process.exit(1)
}
