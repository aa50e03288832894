// Shared state of the stand-in's parts.
export const state = {
  isReady: false,
  /** The connection to Chromium. */
  browser: undefined,
  /** Open windows, the last focused one at the end. */
  windows: new Set(),
  /** Called when the last window has closed. */
  onLastWindowClosed: () => {},
}
