import { beforeEach, expect, test, vi } from 'vitest'
import { LivePlayer } from '../../../renderer/kit/media/live-player.ts'
import { MediaRefusal } from '../../../renderer/kit/media/media-refusal.ts'
import type { OfferExchange } from '../../../renderer/kit/media/sdp-exchange.ts'
import { WhepSession } from '../../../renderer/kit/media/whep-session.ts'

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal('RTCPeerConnection', EventTarget)
})

test('a player that was refused the picture plays the sound, and has the picture after its next start', async () => {
  let converts = false
  const refusal = new MediaRefusal(406, 'codec', 0, 'The viewer does not take H264.')
  const requests: string[] = []
  let end: (byServer: boolean) => void = () => {}
  vi.spyOn(WhepSession, 'start').mockImplementation(async (_way, kinds, _signal, onEnded) => {
    requests.push(kinds.join(' and '))
    if (kinds.includes('video') && !converts) throw refusal
    end = onEnded
    const connection = Object.assign(new EventTarget(), { connectionState: 'connected' })
    return await Promise.resolve({ video: null, audio: null, connection, close: () => {} } as unknown as WhepSession)
  })
  const states: [string, unknown][] = []
  const player = new LivePlayer({} as OfferExchange, ['video', 'audio'], {
    tracks: () => {},
    state: (state, problem) => void states.push([state, problem]),
  })
  await vi.advanceTimersByTimeAsync(0)
  expect(requests).toEqual(['video and audio', 'audio'])
  expect(states.at(-1)).toEqual(['connected', refusal])

  converts = true
  end(true)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(requests.slice(2)).toEqual(['video and audio'])
  expect(states.at(-1)).toEqual(['connected', undefined])
  player.close()
})
