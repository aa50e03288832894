import type { ControlParams, ControlResult } from '../../shared/media/control.ts'
import type { CameraPulls } from './feeds/camera-pulls.ts'
import { stillOf } from './feeds/camera-still.ts'
import type { Feed } from './feeds/feed.ts'
import type { Room } from './rooms/room.ts'
import { RtspError } from './rtsp/rtsp-error.ts'

/** Returns the quality measurements of a feed's camera; `quality` is null for a feed without a camera. */
export function qualityOf(pulls: CameraPulls, feed: Feed | undefined): ControlResult<'camera_quality'> {
  const meter = feed && pulls.meters.of(feed)
  return { quality: meter === undefined ? null : { now: meter.now ?? null, minutes: [...meter.minutes] } }
}

/** Returns the clock offsets of the cameras in these rooms, without cameras whose offset is unknown. */
export function clocksOf(pulls: CameraPulls, rooms: Iterable<Pick<Room, 'streams'>>): ControlResult<'camera_clocks'> {
  const streams = Array.from(rooms, (room) => [...room.streams.values()]).flat()
  const clocks = streams.flatMap(({ view, feed }) => {
    const ahead_ms = pulls.meters.of(feed)?.clockAhead
    return ahead_ms === undefined ? [] : [{ streamId: view.stream_id, ahead_ms }]
  })
  return { clocks }
}

/** Returns a picture of a camera, or the reason why it is missing. @throws the signal's abort reason */
export async function stillAnswer(
  pulls: CameraPulls,
  camera: ControlParams<'camera_still'>,
  signal: AbortSignal,
): Promise<ControlResult<'camera_still'>> {
  try {
    const picture = await stillOf(pulls, { login: undefined, ...camera }, signal)
    if (picture === undefined) return { picture: null, missing: 'codec' }
    return { picture: { ...picture, frame: picture.frame.toString('base64') }, missing: null }
  } catch (error) {
    if (!(error instanceof RtspError)) throw error
    return { picture: null, missing: 'failed' }
  }
}
