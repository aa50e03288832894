/**
 * Returns whether this browser has WebRTC, which live pictures and sound require. Some builds of WebKitGTK and some
 * company policies disable it.
 */
export function hasWebRtc(): boolean {
  return 'RTCPeerConnection' in globalThis
}

/** Live media is unavailable: the browser has no WebRTC. */
export class NoWebRtcError extends Error {
  constructor() {
    super('the browser has no WebRTC')
    this.name = 'NoWebRtcError'
  }
}
