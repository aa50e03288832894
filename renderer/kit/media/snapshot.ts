import { wallTimeOf } from '../time/wall-time.ts'

/**
 * Makes a JPEG of a video's current picture in full size.
 * @throws Error if the video has no picture yet
 */
export async function snapshot(video: HTMLVideoElement): Promise<Blob> {
  const { videoWidth: width, videoHeight: height } = video
  if (width === 0 || height === 0) throw new Error('there is no picture yet')
  const canvas = document.createElement('canvas')
  canvas.width = width
  canvas.height = height
  canvas.getContext('2d')?.drawImage(video, 0, 0, width, height)
  return await new Promise((resolve, reject) => {
    canvas.toBlob(
      (blob) => (blob === null ? reject(new Error('the picture could not be packed')) : resolve(blob)),
      'image/jpeg',
      0.92,
    )
  })
}

/** Makes `front-door_2026-11-21_14-05-09.jpg`: the camera and the local time. */
export function snapshotName(camera: string, at: Date): string {
  const moment = wallTimeOf(at.getTime()).replace('T', '_').replaceAll(':', '-')
  const name = camera.replace(/[^\p{L}\p{N}._-]+/gu, '-').replace(/^-+|-+$/g, '') || 'camera'
  return `${name}_${moment}.jpg`
}
