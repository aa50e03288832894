import type { CameraOptions } from '../support/camera/camera.ts'

/** The camera that viewers are measured with, by whichever server: 720p with 25 frames and 2 Mbit a second, a key frame every 2 s. */
export const viewedCamera: CameraOptions = { width: 1280, height: 720, fps: 25, kbps: 2_000, gop: 50, pattern: 'smpte' }
