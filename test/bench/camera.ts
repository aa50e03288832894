import type { CameraOptions } from '../support/camera/camera.ts'

/** Camera for measurements of viewers on any server: 720p with 25 frames and 2 Mbit a second, a key frame every 2 s. */
export const viewedCamera: CameraOptions = { width: 1280, height: 720, fps: 25, kbps: 2_000, gop: 50, pattern: 'smpte' }

/** Camera for measurements of many cameras: it answers at every loopback address, each a separate camera to a node, and encodes once for all. */
export const pulledCamera: CameraOptions = { host: '0.0.0.0', fps: 25, kbps: 1_000, gop: 25, pattern: 'snow' }
