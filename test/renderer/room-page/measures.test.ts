import { mount } from '@vue/test-utils'
import { encode } from 'uqr'
import { describe, expect, test } from 'vitest'
import QrCode from '../../../renderer/kit/components/QrCode.vue'
import { loudness } from '../../../renderer/kit/media/audio-level.ts'
import { ConnectionReading, ratesBetween } from '../../../renderer/kit/media/connection-reading.ts'
import { qualityOf, worstQuality } from '../../../renderer/kit/media/quality.ts'
import { snapshotName } from '../../../renderer/kit/media/snapshot.ts'
import { withRates } from '../../../renderer/console/pages/rooms/useRoomMedia.ts'
import type { StreamStats } from '../../../shared/media/stream-stats.ts'

const reading = (values: Partial<ConnectionReading>): ConnectionReading =>
  Object.assign(new ConnectionReading(), { at: 0, ...values })

describe('a connection', () => {
  test('has rates from two readings', () => {
    const before = reading({ at: 1_000, videoBytes: 1_000, frames: 10, packets: 100, lost: 1 })
    const after = reading({ at: 3_000, videoBytes: 251_000, frames: 60, packets: 198, lost: 3, roundTripMs: 20 })
    expect(ratesBetween(before, after)).toEqual({
      videoBitrate: 1_000_000,
      audioBitrate: 0,
      fps: 25,
      loss: 0.02,
      frozen: 0,
      roundTripMs: 20,
    })
    expect(ratesBetween(before, before)).toBeUndefined()
  })

  test('has the quality of its worst part', () => {
    const good = { videoBitrate: 1, audioBitrate: 1, fps: 25, loss: 0, frozen: 0, roundTripMs: 30 }
    expect(qualityOf(undefined)).toBe('unknown')
    expect(qualityOf(good)).toBe('good')
    expect(qualityOf({ ...good, loss: 0.05 })).toBe('fair')
    expect(qualityOf({ ...good, roundTripMs: 900 })).toBe('poor')
    expect(worstQuality(['good', 'poor', 'unknown'])).toBe('poor')
    expect(worstQuality([])).toBe('unknown')
  })
})

test('loudness: silence is 0, full scale is 1, a tenth of the amplitude is a third less', () => {
  expect(loudness(new Float32Array(8))).toBe(0)
  expect(loudness(new Float32Array(8).fill(1))).toBe(1)
  expect(loudness(new Float32Array(8).fill(0.1))).toBeCloseTo(2 / 3)
})

test('a snapshot is named after the camera and the time, without characters that file names forbid', () => {
  const at = new Date(2026, 10, 21, 9, 5, 3)
  expect(snapshotName('北门 / gate:1', at)).toBe('北门-gate-1_2026-11-21_09-05-03.jpg')
  expect(snapshotName('///', at)).toBe('camera_2026-11-21_09-05-03.jpg')
})

test('a restarted stream has no rate yet', () => {
  const stream: StreamStats = {
    room_id: 'r',
    stream_id: 's',
    user_id: 's',
    video_codec: 'H264',
    audio_codec: '',
    counted: true,
    video_bytes: 250_000,
    audio_bytes: 0,
    frames: 50,
    key_frames: 1,
    last_key_frame_at: 1,
    b_frames: false,
    shortcomings: [],
    conversion: null,
    last_packet_at: 1,
    viewers: 0,
  }
  const before = { at: 0, streams: [{ ...stream, video_bytes: 0, frames: 0 }] }
  expect(withRates(stream, 2_000, before)).toMatchObject({ bitrate: 1_000_000, fps: 25 })
  expect(withRates({ ...stream, video_bytes: 5 }, 4_000, { at: 2_000, streams: [stream] }).bitrate).toBeUndefined()
  expect(withRates(stream, 2_000, undefined).bitrate).toBeUndefined()
})

test('a QR code draws exactly the modules of its text', () => {
  const text = 'http://10.0.0.5:7080/jroom/?roomId=123456789#token=eyJ2IjoxfQ.x'
  const { data } = encode(text, { ecc: 'L', border: 2 })
  const path = mount(QrCode, { props: { text, label: 'code' } })
    .get('path')
    .attributes('d')
  const painted = data.map((line) => line.map(() => false))
  for (const [, x, y, width] of path?.matchAll(/M(\d+) (\d+)h(\d+)v1H\d+z/g) ?? []) {
    painted[Number(y)]?.fill(true, Number(x), Number(x) + Number(width))
  }
  expect(painted).toEqual(data)
})
