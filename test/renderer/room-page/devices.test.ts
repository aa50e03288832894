import { afterEach, describe, expect, test, vi } from 'vitest'
import { blur, canBlur } from '../../../renderer/room-page/local/background-blur.ts'
import { DeviceSwitch } from '../../../renderer/room-page/local/device-input.ts'
import { OwnDevices } from '../../../renderer/room-page/local/own-devices.ts'
import { addressElsewhere, takeArrival } from '../../../renderer/room-page/session/handover.ts'

/** Cameras of a phone or a laptop, as requested from the browser: browsers of the tests have none. */
class Cameras {
  readonly asked: MediaStreamConstraints[] = []
  readonly tracks: EventTarget[] = []
  missing = new Set<string>()

  constructor() {
    const getUserMedia = (constraints: MediaStreamConstraints): Promise<unknown> => {
      this.asked.push(constraints)
      const wish = constraints.video ?? constraints.audio
      const video = typeof wish === 'object' ? wish : {}
      const exact = (value: unknown): string | undefined =>
        typeof value === 'object' && value !== null && 'exact' in value ? String(value.exact) : undefined
      const wanted = exact(video.deviceId) ?? exact(video.facingMode) ?? 'user'
      if (this.missing.has(wanted)) return Promise.reject(new DOMException('', 'OverconstrainedError'))
      const track = Object.assign(new EventTarget(), {
        kind: constraints.audio ? 'audio' : 'video',
        enabled: true,
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
          .flatMap((deviceId) => ['videoinput', 'audioinput'].map((kind) => ({ kind, deviceId, label: deviceId }))),
      )
    const mediaDevices = Object.assign(new EventTarget(), { getUserMedia, enumerateDevices })
    vi.stubGlobal('navigator', { mediaDevices })
  }
}

afterEach(() => {
  sessionStorage.clear()
  localStorage.clear()
})

/** The only camera of a call, unplugged. */
async function unplugged() {
  const cameras = new Cameras()
  const told = vi.fn()
  const camera = new DeviceSwitch('video', '', () => {}, told)
  await camera.turnOn()
  cameras.missing = new Set(['user', 'environment'])
  cameras.tracks[0]?.dispatchEvent(new Event('ended'))
  await vi.waitFor(() => expect(camera.input.choices).toEqual([]))
  return { cameras, camera, told }
}

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
    await vi.waitFor(() =>
      expect(told).toHaveBeenCalledWith({ what: 'replaced', lost: 'environment', instead: 'user' }),
    )
    expect(camera.input).toMatchObject({ on: true, chosen: 'user', problem: null })
    await camera.plugged()
    expect(camera.input.chosen).toBe('user')
    cameras.missing.clear()
    await camera.plugged()
    expect(camera.input).toMatchObject({ on: true, chosen: 'environment' })
  })

  test('without a replacement is reported as missing when unplugged, and is on again once plugged in', async () => {
    const { cameras, camera, told } = await unplugged()
    expect(camera.input).toMatchObject({ on: false, taken: true, problem: 'lost' })
    cameras.missing.clear()
    await camera.plugged()
    expect(camera.input).toMatchObject({ on: true, taken: false, problem: null })
    expect(told).toHaveBeenCalledWith({ what: 'back', kind: 'video', name: 'user' })
  })

  test('that its user or a host turned off while it was unplugged stays off', async () => {
    const { cameras, camera } = await unplugged()
    camera.turnOff()
    cameras.missing.clear()
    await camera.plugged()
    expect(camera.input).toMatchObject({ on: false, taken: false, track: null })
  })

  test('whose permission is withdrawn says so, and is on again once permission is granted', async () => {
    const cameras = new Cameras()
    const status: { state: string; onchange?: () => void } = { state: 'denied' }
    Object.assign(navigator, { permissions: { query: () => Promise.resolve(status) } })
    const camera = new DeviceSwitch('video', '', () => {})
    await camera.turnOn()
    cameras.tracks[0]?.dispatchEvent(new Event('ended'))
    await vi.waitFor(() => expect(camera.input).toMatchObject({ on: false, taken: true, problem: 'denied' }))
    expect(cameras.asked).toHaveLength(1)
    status.state = 'granted'
    status.onchange?.()
    await vi.waitFor(() => expect(camera.input).toMatchObject({ on: true, problem: null }))
  })
})

describe('the switch of a device', () => {
  /** States of a device that others see and hear, one after the other. */
  function watched(kind: 'audio' | 'video'): { device: DeviceSwitch; states: boolean[] } {
    new Cameras()
    const states: boolean[] = []
    const device: DeviceSwitch = new DeviceSwitch(kind, '', () => {
      const { track, on } = device.input
      states.push(on || (kind === 'video' ? track !== null : track?.enabled === true))
    })
    return { device, states }
  }

  test('that is off stays off while its microphone or its processing is replaced: not a moment of sound is sent', async () => {
    const { device, states } = watched('audio')
    await device.turnOn()
    device.turnOff()
    await device.choose('environment')
    await device.process()
    expect(states).toEqual([true, false, false])
    await device.turnOn()
    expect(states.at(-1)).toBe(true)
  })

  test('that is off opens no camera when another one is chosen, or the opposite one', async () => {
    const { device, states } = watched('video')
    await device.restore()
    device.turnOff()
    await device.flip()
    await device.choose('environment')
    await device.restore()
    expect([device.input.track, states]).toEqual([null, [true, false]])
  })

  test('has the state in which the user left it in this tab, else that of the last visit; a host can only turn it off', async () => {
    const { device } = watched('audio')
    await device.restore()
    device.turnOff()
    const again = watched('audio').device
    await again.restore()
    expect([again.input.on, again.left]).toEqual([false, false])
    sessionStorage.clear()
    expect(watched('audio').device.left).toBe(false)
    await again.turnOn()
    sessionStorage.clear()
    expect(watched('audio').device.left).toBe(true)
  })

  test('is off for the visit if the user joined without the device', async () => {
    const cameras = new Cameras()
    cameras.missing = new Set(['user', 'environment'])
    const camera = new DeviceSwitch('video', '', () => {})
    await camera.restore()
    camera.settle()
    cameras.missing.clear()
    await camera.plugged()
    expect([camera.input.track, new DeviceSwitch('video', '', () => {}).left]).toEqual([null, false])
    sessionStorage.clear()
    expect(new DeviceSwitch('video', '', () => {}).left).toBe(true)
  })
})

describe('microphone and camera at the entrance', () => {
  test('a user who joins before they are open is heard and seen as soon as they are', async () => {
    const cameras = new Cameras()
    const devices = new OwnDevices(
      () => {},
      () => {},
    )
    const restored = devices.restore()
    expect(cameras.asked).toHaveLength(1)
    devices.settle()
    await restored
    expect([devices.microphone.input.on, devices.camera.input.on]).toEqual([true, true])
  })

  test('a user who leaves before they are open is not filmed; they open at the next visit', async () => {
    const cameras = new Cameras()
    const devices = new OwnDevices(
      () => {},
      () => {},
    )
    const restored = devices.restore()
    devices.close()
    await restored
    expect(cameras.asked).toHaveLength(1)
    expect([devices.microphone.input.track, devices.camera.input.track]).toEqual([null, null])
    await devices.restore()
    expect([devices.microphone.input.on, devices.camera.input.on]).toEqual([true, true])
  })
})

describe('settings handed over by another page', () => {
  const visit = { userName: 'Ann', hostPassword: '', pass: 'p', browser: '', audio: true, video: true, at: Date.now() }
  const at = (host: string, hash: string) => ({
    host: `${host}:7082`,
    hostname: host,
    pathname: '/room/',
    search: '',
    hash,
  })
  const back = (handover: object): string => `#token=t&back=${encodeURIComponent(JSON.stringify(handover))}`
  const take = (host: string, hash: string) => takeArrival(at(host, hash), `http://${host}:7082/`, () => {})

  test.each([
    ['the same machine: devices go on as they were', '127.0.0.1', back(visit), { audio: true, video: true }],
    ['plain HTTP of another machine: both stay off', 'desk.example', back(visit), { audio: false, video: false }],
    ['an hour ago: the entrance', '127.0.0.1', back({ ...visit, at: Date.now() - 3_600_000 }), undefined],
    ['another host name, with the camera off', 'desk.example', '#token=t&off=video', { audio: true, video: false }],
    ['nothing', 'desk.example', '#token=t', undefined],
  ])('%s', (_, host, hash, left) => {
    const taken = take(host, hash).left
    expect(taken && { audio: taken.audio, video: taken.video }).toEqual(left)
  })

  test('a handover in a link of another user turns nothing on', () => {
    expect(takeArrival(at('127.0.0.1', back(visit)), 'http://evil.example/', () => {})).toEqual({
      visit: undefined,
      left: undefined,
    })
  })

  test('the address at another host name contains the devices that are off', () => {
    const address = (audio: boolean, video: boolean): string =>
      addressElsewhere('https://b', '7', 't', { audio, video })
    expect([address(true, true), address(false, false)]).toEqual([
      'https://b/room/?roomId=7#token=t',
      'https://b/room/?roomId=7#token=t&off=audio,video',
    ])
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
