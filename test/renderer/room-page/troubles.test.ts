import { describe, expect, test } from 'vitest'
import { remoteMedia } from '../../../renderer/room-page/session/remote-media.ts'
import {
  Lasting,
  SendingReading,
  signsOfReceiving,
  signsOfSending,
} from '../../../renderer/room-page/session/troubles.ts'

const reading = (values: Partial<SendingReading> = {}): SendingReading =>
  Object.assign(new SendingReading(), {
    soundEnergy: 1,
    soundPackets: 100,
    cameraFrames: 50,
    cameraHeight: 720,
    sentFrames: new Map([[720, 50]]),
    isLimited: false,
    loss: 0,
    roundTripMs: 20,
    ...values,
  })
const later = { soundPackets: 200, cameraFrames: 100, sentFrames: new Map([[720, 100]]) }
const both = { microphone: true, camera: true }

describe('what a browser sends', () => {
  test.each([
    ['nothing', later, []],
    ['micSilent', { ...later, soundEnergy: 0 }, ['micSilent']],
    ['nothing where the browser measures no energy', { ...later, soundEnergy: undefined }, []],
    ['micStopped also there', { ...later, soundEnergy: undefined, soundPackets: 100 }, ['micStopped']],
    ['micStopped', { ...later, soundPackets: 100 }, ['micStopped']],
    ['cameraStopped', { ...later, cameraFrames: 50 }, ['cameraStopped']],
    ['sendingLossy', { ...later, loss: 0.2 }, ['sendingLossy']],
    [
      'sendingSlow',
      {
        ...later,
        isLimited: true,
        sentFrames: new Map([
          [720, 50],
          [180, 50],
        ]),
      },
      ['sendingSlow'],
    ],
    ['delayed', { ...later, roundTripMs: 900 }, ['delayed']],
  ] as const)('shows %s', (_name, values, signs) => {
    expect([...signsOfSending(reading(), reading(values), both)]).toEqual(signs)
  })

  test('shows nothing of a microphone and a camera that are off', () => {
    const silent = reading({ soundEnergy: 0, soundPackets: 100, cameraFrames: 50 })
    expect([...signsOfSending(reading(), silent, { microphone: false, camera: false })]).toEqual([])
  })
})

test('one poor stream among good ones is its sender’s trouble; most of them, or key frames only, are one’s own', () => {
  const streams = ['ann', 'bo', 'cy'].map((id) =>
    Object.assign(remoteMedia(id, id, 'main'), { state: 'connected', quality: 'good' }),
  )
  const [ann, bo] = streams
  if (ann === undefined || bo === undefined) throw new Error('no streams')
  const signs = () => [[...signsOfReceiving(streams).signs], signsOfReceiving(streams).userIds]
  expect(signs()).toEqual([[], []])
  bo.quality = 'poor'
  expect(signs()).toEqual([['person'], ['bo']])
  ann.quality = 'poor'
  expect(signs()).toEqual([['receivingSlow'], []])
  Object.assign(ann, { quality: 'good', sent: 'key_frames' })
  bo.quality = 'good'
  expect(signs()).toEqual([['receivingSlow'], []])
})

test('trouble is shown once it lasts, and does not flicker', () => {
  const lasting = new Lasting()
  const shown = (...signs: ('delayed' | 'sendingSlow')[]) => [...lasting.take(new Set(signs))]
  expect([shown('delayed'), shown('delayed'), shown(), shown('delayed')].flat()).toEqual([])
  shown('delayed')
  expect(shown('delayed')).toEqual(['delayed'])
  // Readings between do not hide it.
  for (const signs of [[], [], ['delayed'], [], [], []] as const) expect(shown(...signs)).toEqual(['delayed'])
  expect(shown()).toEqual([])
})
