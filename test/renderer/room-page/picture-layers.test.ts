import { describe, expect, test } from 'vitest'
import { layersOf } from '../../../renderer/kit/media/picture-layers.ts'

/** A camera's track, reduced to its size. */
function camera(width: number, height: number): MediaStreamTrack {
  return Object.assign(new EventTarget() as MediaStreamTrack, { getSettings: () => ({ width, height }) })
}

describe('layers of a published picture', () => {
  const heights = (width: number, height: number): number[] =>
    layersOf(camera(width, height), 2_000_000).map(({ scaleResolutionDownBy = 1 }) => height / scaleResolutionDownBy)

  test('are three of a large one, two of a smaller one, one of a small one', () => {
    expect(heights(1_280, 720)).toEqual([180, 360, 720])
    expect(heights(1_920, 1_080)).toEqual([270, 540, 1_080])
    expect(heights(640, 360)).toEqual([180, 360])
    expect(heights(320, 180)).toEqual([180])
    expect(layersOf(camera(320, 180), 2_000_000)).toEqual([{ maxBitrate: 2_000_000 }])
  })

  test('are as many for an upright phone', () => {
    expect(heights(720, 1_280)).toEqual([320, 640, 1_280])
    expect(heights(360, 640)).toHaveLength(2)
  })

  test('contain only pictures that every viewer needs', () => {
    const layers = layersOf(camera(1_280, 720), 2_000_000)
    expect(layers.map((layer) => 'scalabilityMode' in layer && layer.scalabilityMode)).toEqual(Array(3).fill('L1T1'))
  })

  test('have unique names, and the largest has the full bitrate', () => {
    const layers = layersOf(camera(1_280, 720), 2_000_000)
    expect(new Set(layers.map(({ rid }) => rid)).size).toBe(3)
    expect(layers.at(-1)?.maxBitrate).toBe(2_000_000)
  })
})
