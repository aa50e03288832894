import { expect, test } from 'vitest'
import { codecName, resolutionOf, trackNote } from '../../../renderer/console/pages/devices/tracks.ts'
import { probeAnswers } from '../../../renderer/console/pages/devices/useProbe.ts'
import type { DeviceErrorKind } from '../../../shared/device.ts'

const failed = (kind: DeviceErrorKind) =>
  probeAnswers({
    ok: false,
    kind,
    message: '',
    detail: '',
    milliseconds: 1,
    tracks: [],
    second: null,
    simulated: false,
  })

test('a failed probe says how far it got', () => {
  expect(failed('unreachable')).toEqual({ reach: 'bad', login: 'unknown', stream: 'unknown' })
  expect(failed('auth')).toEqual({ reach: 'ok', login: 'bad', stream: 'unknown' })
  expect(failed('noUsableTrack')).toEqual({ reach: 'ok', login: 'ok', stream: 'bad' })
  // Some cameras check the path before the login.
  expect(failed('notFound')).toEqual({ reach: 'ok', login: 'unknown', stream: 'bad' })
  expect(failed('nodeFailed')).toEqual({ reach: 'unknown', login: 'unknown', stream: 'unknown' })
})

test('a simulated probe has no result', () => {
  const result = {
    ok: true,
    kind: null,
    message: '',
    detail: '',
    milliseconds: 0,
    tracks: [],
    second: null,
    simulated: true,
  }
  expect(probeAnswers(result)).toEqual({ reach: 'unknown', login: 'unknown', stream: 'unknown' })
})

test('a track has a readable name, with the reason why browsers cannot play it and the remedy', () => {
  const video = {
    kind: 'video',
    codec: 'H264',
    detail: 'H.264, 1920 × 1080',
    carried: true,
    way: 'direct' as const,
    reason: null,
  }
  expect([codecName(video), resolutionOf(video), trackNote(video)]).toEqual(['H.264', '1920 × 1080', null])
  const order = { ...video, reason: 'b_frames' as const }
  expect(trackNote({ ...order, way: 'needs_ffmpeg' })).toEqual({ reason: 'b_frames', remedies: ['ffmpeg', 'order'] })
  expect(trackNote({ ...order, way: 'converted' })).toEqual({ reason: 'b_frames', remedies: [] })
  const sound = { ...video, kind: 'audio', carried: false, way: 'needs_ffmpeg' as const }
  const aac = { ...sound, codec: 'MPEG4-GENERIC', detail: 'AAC is not supported', reason: 'aac' as const }
  expect([codecName(aac), resolutionOf(aac)]).toEqual(['AAC', ''])
  expect(trackNote(aac)).toEqual({ reason: 'aac', remedies: ['ffmpeg', 'sound'] })
  expect(codecName({ ...sound, codec: 'AAL2-G726-32' })).toBe('G.726-32')
  const unknown = { ...video, codec: 'VP9', carried: false, way: 'none' as const, reason: 'video_other' as const }
  expect(trackNote(unknown)).toEqual({ reason: 'video_other', remedies: ['pictures'] })
})
