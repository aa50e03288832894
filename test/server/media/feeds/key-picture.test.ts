import { expect, test } from 'vitest'
import { CleanPictures } from '../../../../server/media/clean/clean-pictures.ts'
import { Feed } from '../../../../server/media/feeds/feed.ts'
import { keyPictureOf } from '../../../../server/media/feeds/key-picture.ts'
import { delta, idr, pps, rtp } from '../rtp/packets.ts'

/** Parameter sets of a camera with 640 by 360 pixels. */
const sets = 'Z0LAFtkAoC/5cBEAAAMAAQAAAwACDxYuSA==,aMuDyyA='
const largeSps = [...Buffer.from(sets.split(',')[0] ?? '', 'base64')]
const start = [0, 0, 0, 1]

function camera(options: { parameterSets?: string; codec?: 'H264' | 'H265'; cached?: boolean } = {}): Feed {
  const { parameterSets = '', codec = 'H264', cached = true } = options
  const video = { codec, profileLevelId: '42c01e', parameterSets }
  return new Feed({ video, audio: undefined, cached, requestKeyFrame: () => {} })
}

/** What makes clean pictures of a camera with these sets in its description. */
function cleanPictures(parameterSets: string, emit: (packet: Buffer) => void): CleanPictures {
  const described = parameterSets.split(',').map((text) => Buffer.from(text, 'base64'))
  return new CleanPictures({ codec: 'H264', described, emit, after: () => () => {} })
}

test('The newest complete picture of a camera is available with its parameter sets and its size', () => {
  const feed = camera()
  expect(keyPictureOf(feed)).toBeUndefined()
  const push = (sequence: number, timestamp: number, payload: number[], marker = false): void =>
    feed.pushVideo(rtp(sequence, timestamp, payload, { marker }))
  push(1, 100, largeSps)
  push(2, 100, pps)
  // In two fragments.
  push(3, 100, [0x7c, 0x85, 0x88])
  expect(keyPictureOf(feed)).toBeUndefined()
  push(4, 100, [0x7c, 0x45, 0x99], true)
  push(5, 200, delta, true)
  const picture = keyPictureOf(feed)
  expect(picture && [picture.width, picture.height]).toEqual([640, 360])
  expect([...(picture?.frame ?? [])]).toEqual([...start, ...largeSps, ...start, ...pps, ...start, 0x65, 0x88, 0x99])
  feed.videoMuted = true
  expect(keyPictureOf(feed)).toBeUndefined()
})

test('Parameter sets from the description are included; without any there is no picture', () => {
  for (const [parameterSets, size] of [
    [sets, [640, 360]],
    ['', undefined],
  ] as const) {
    const feed = camera()
    cleanPictures(parameterSets, (packet) => feed.pushVideo(packet)).push(rtp(1, 100, [...idr, 0x84], { marker: true }))
    const picture = keyPictureOf(feed)
    expect(picture && [picture.width, picture.height]).toEqual(size)
  }
})

test('Feeds of another codec, or without stored pictures, have none', () => {
  for (const feed of [camera({ codec: 'H265' }), camera({ cached: false })]) {
    feed.pushVideo(rtp(1, 100, largeSps))
    feed.pushVideo(rtp(2, 100, [...idr, 0x84], { marker: true }))
    expect(keyPictureOf(feed)).toBeUndefined()
  }
})
