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
  const two = (value: number): string => String(value).padStart(2, '0')
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
  const time = `${two(at.getHours())}-${two(at.getMinutes())}-${two(at.getSeconds())}`
  const name = camera.replace(/[^\p{L}\p{N}._-]+/gu, '-').replace(/^-+|-+$/g, '') || 'camera'
  return `${name}_${day}_${time}.jpg`
}
