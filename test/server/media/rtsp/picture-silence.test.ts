import { expect, test } from 'vitest'
import { PictureSilence } from '../../../../server/media/rtsp/packet-arrivals.ts'
test('a picture has stopped after twelve stall times, and after four times its longest gap', () => {
  const silence = new PictureSilence(1_000)
  const note = (place: number, seconds: number): number => silence.note(place, seconds * 1_000)
  expect([note(1, 5), note(1, 17), note(1, 17.5)]).toEqual([0, 0, 12_500])
  // A still camera: a picture each ten seconds.
  expect([note(2, 20), note(3, 30), note(3, 65), note(3, 90.5)]).toEqual([0, 0, 0, 60_500])
})

test('a camera that has sent no picture yet is not reported', () => {
  const silence = new PictureSilence(1_000)
  expect([silence.note(-1, 0), silence.note(-1, 90_000), silence.note(7, 91_000), silence.note(7, 102_000)]).toEqual([
    0, 0, 0, 0,
  ])
})
