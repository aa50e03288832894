// What the parts of the stand-in know of each other.
export const state = {
  isReady: false,
  /** The connection to Chromium. */
  browser: undefined,
  /** Open windows, the one that was focused last at the end. */
  windows: new Set(),
  /** Told when the last window has gone. */
  onLastWindowClosed: () => {},
}
