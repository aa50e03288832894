import { startCamera } from './camera.ts'
import type { RoomCamera } from '../sites/room-site.ts'

/**
 * Starts GStreamer for a room whose standstill is measured: it sends a key picture each second. With those of a test
 * camera, every two seconds, pictures stand still longer than these stories allow.
 */
export async function startEncodedCamera(): Promise<RoomCamera> {
  const camera = await startCamera({ fps: 8, gop: 8 })
  return {
    url: camera.url('/cam'),
    smallUrl: camera.url('/small'),
    [Symbol.asyncDispose]: () => camera.kill(),
  }
}
