import { expect, test } from 'vitest'
import { codecName, resolutionOf, trackNote } from '../../../renderer/pages/devices/tracks.ts'
import { probeAnswers } from '../../../renderer/pages/devices/useProbe.ts'
import type { DeviceErrorKind } from '../../../shared/device.ts'

const failed = (kind: DeviceErrorKind) =>
  probeAnswers({ ok: false, kind, message: '', milliseconds: 1, tracks: [], second: null, simulated: false })

test('a probe answers how far it came', () => {
  expect(failed('unreachable')).toEqual({ reach: 'bad', login: 'unknown', stream: 'unknown' })
  expect(failed('auth')).toEqual({ reach: 'ok', login: 'bad', stream: 'unknown' })
  expect(failed('noUsableTrack')).toEqual({ reach: 'ok', login: 'ok', stream: 'bad' })
  // Some cameras look at the path before the login.
  expect(failed('notFound')).toEqual({ reach: 'ok', login: 'unknown', stream: 'bad' })
  expect(failed('nodeFailed')).toEqual({ reach: 'unknown', login: 'unknown', stream: 'unknown' })
})

test('a simulated probe found out nothing, whatever it says', () => {
  const result = { ok: true, kind: null, message: '', milliseconds: 0, tracks: [], second: null, simulated: true }
  expect(probeAnswers(result)).toEqual({ reach: 'unknown', login: 'unknown', stream: 'unknown' })
})

test('a track is named as people name it, with what to mend where it cannot be carried', () => {
  const video = { kind: 'video', codec: 'H264', detail: 'H.264, 1920 × 1080', carried: true }
  expect([codecName(video), resolutionOf(video), trackNote(video)]).toEqual(['H.264', '1920 × 1080', null])
  expect(trackNote({ ...video, detail: 'H.264 with B-frames: browsers show few, 1920 × 1080' })).toBe('b_frames')
  const aac = { kind: 'audio', codec: 'MPEG4-GENERIC', detail: 'AAC cannot be carried', carried: false }
  expect([codecName(aac), resolutionOf(aac), trackNote(aac)]).toEqual(['AAC', '', 'aac'])
  expect(trackNote({ kind: 'video', codec: 'VP9', detail: '', carried: false })).toBe('video_other')
  expect(trackNote({ ...video, detail: 'H.264 in interleaved mode cannot be carried', carried: false })).toBe('detail')
})
