import { afterEach, describe, expect, test, vi } from 'vitest'
import { blur, canBlur } from '../../../renderer/room-page/local/background-blur.ts'
import { DeviceSwitch } from '../../../renderer/room-page/local/device-input.ts'

/** Cameras of a phone or a laptop, as requested from the browser: browsers of the tests have none. */
class Cameras {
  readonly asked: MediaStreamConstraints[] = []
  readonly tracks: EventTarget[] = []
  missing = new Set<string>()

  constructor() {
    const getUserMedia = (constraints: MediaStreamConstraints): Promise<unknown> => {
      this.asked.push(constraints)
      const video = typeof constraints.video === 'object' ? constraints.video : {}
      const exact = (wish: unknown): string | undefined =>
        typeof wish === 'object' && wish !== null && 'exact' in wish ? String(wish.exact) : undefined
      const wanted = exact(video.deviceId) ?? exact(video.facingMode) ?? 'user'
      if (this.missing.has(wanted)) return Promise.reject(new DOMException('', 'OverconstrainedError'))
      const track = Object.assign(new EventTarget(), {
        kind: 'video',
        label: wanted,
        stop: () => {},
        getSettings: () => ({ deviceId: wanted, facingMode: wanted }),
      })
      this.tracks.push(track)
      return Promise.resolve({ getTracks: () => [track] })
    }
    const enumerateDevices = (): Promise<unknown> =>
      Promise.resolve(
        ['user', 'environment']
          .filter((id) => !this.missing.has(id))
          .map((deviceId) => ({ kind: 'videoinput', deviceId, label: deviceId })),
      )
    vi.stubGlobal('navigator', { mediaDevices: { getUserMedia, enumerateDevices } })
  }
}

afterEach(() => void vi.unstubAllGlobals())

describe('a camera in a call', () => {
  test('is switched to the opposite one, and back; the choice is remembered', async () => {
    const cameras = new Cameras()
    const camera = new DeviceSwitch('video', '', () => {})
    await camera.turnOn()
    await camera.flip()
    expect(cameras.asked.at(-1)).toMatchObject({ video: { facingMode: { exact: 'environment' } } })
    expect([camera.input.chosen, camera.wanted]).toEqual(['environment', 'environment'])
    await camera.flip()
    expect(camera.wanted).toBe('user')
  })

  test('without an opposite one stays', async () => {
    const cameras = new Cameras()
    cameras.missing.add('environment')
    const camera = new DeviceSwitch('video', '', () => {})
    await camera.turnOn()
    await camera.flip()
    expect(camera.input).toMatchObject({ on: true, chosen: 'user', problem: null })
  })

  test('that is unplugged is replaced by another one, and used again when it returns', async () => {
    const cameras = new Cameras()
    const told = vi.fn()
    const camera = new DeviceSwitch('video', 'environment', () => {}, told)
    await camera.turnOn()
    cameras.missing.add('environment')
    cameras.tracks[0]?.dispatchEvent(new Event('ended'))
    await vi.waitFor(() => expect(told).toHaveBeenCalledWith('environment', 'user'))
    expect(camera.input).toMatchObject({ on: true, chosen: 'user', problem: null })
    await camera.plugged()
    expect(camera.input.chosen).toBe('user')
    cameras.missing.clear()
    await camera.plugged()
    expect(camera.input).toMatchObject({ on: true, chosen: 'environment' })
  })

  test('without a replacement is reported lost when unplugged', async () => {
    const cameras = new Cameras()
    const camera = new DeviceSwitch('video', '', () => {})
    await camera.turnOn()
    cameras.missing = new Set(['user', 'environment'])
    cameras.tracks[0]?.dispatchEvent(new Event('ended'))
    expect(camera.input).toMatchObject({ on: false, problem: 'lost' })
  })
})

describe('background blur', () => {
  const track = (capabilities: object, applied: () => Promise<void> = () => Promise.resolve()) =>
    Object.assign(Object.create(null), {
      getCapabilities: () => capabilities,
      getConstraints: () => ({ width: 1_280 }),
      applyConstraints: vi.fn(applied),
    })

  test('is offered only if the browser lets the page choose it', () => {
    expect(canBlur(track({ backgroundBlur: [true, false] }))).toBe(true)
    for (const without of [{}, { backgroundBlur: [true] }, { backgroundBlur: [false] }])
      expect(canBlur(track(without))).toBe(false)
    expect(canBlur(null)).toBe(false)
  })

  test('keeps the other settings of the camera, and reports when it is unavailable', async () => {
    const camera = track({ backgroundBlur: [true, false] })
    expect(await blur(camera, true)).toBe(true)
    expect(camera.applyConstraints).toHaveBeenCalledWith({ width: 1_280, backgroundBlur: true })
    expect(
      await blur(
        track({}, () => Promise.reject(new Error('no'))),
        true,
      ),
    ).toBe(false)
  })
})
