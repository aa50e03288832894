import { smallPicture } from '../../../shared/media/test-camera.ts'

/** Parts of a request's address, e.g. `rtsp://10.0.0.5:8554/door/sub/track1`. */
export interface RequestPath {
  /** Name of the camera. */
  camera: string
  /** Whether the address is that of the smaller picture. */
  isSmall: boolean
  /** Whether the address is one to which the camera redirects. */
  isMoved: boolean
  /** Track; empty: the whole stream. */
  track: string
  /** Address of the stream with a slash at its end, as the client wrote it. */
  base: string
}

/** Path segment of the address to which `redirect` leads. */
export const movedSegment = 'moved'

/** Parses the address of a request. Returns undefined if it is no RTSP address. */
export function parseRequestPath(url: string): RequestPath | undefined {
  const [, origin, path = ''] = /^(rtsp:\/\/[^/?#]{1,300})(\/[^?#]{0,300})?/i.exec(url) ?? []
  if (origin === undefined) return undefined
  const segments = path.split('/').filter((segment) => segment !== '')
  const track = segments.at(-1)?.startsWith('track') === true ? (segments.pop() ?? '') : ''
  const [camera = '', ...others] = segments
  return {
    camera,
    isSmall: others.includes(smallPicture),
    isMoved: others.includes(movedSegment),
    track,
    // A login in the address belongs to the client alone.
    base: `${origin.replace(/\/\/[^@]{0,300}@/, '//')}/${segments.join('/')}/`,
  }
}
