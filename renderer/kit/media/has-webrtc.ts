/** Tells whether this browser has WebRTC: without it, there is neither picture nor sound of people and cameras. Some builds of WebKitGTK, and some policies of firms, leave it out. */
export function hasWebRtc(): boolean {
  return 'RTCPeerConnection' in globalThis
}

/** Live media is refused by a browser without WebRTC. */
export class NoWebRtcError extends Error {
  constructor() {
    super('the browser has no WebRTC')
    this.name = 'NoWebRtcError'
  }
}
