import { onBeforeUnmount, shallowReactive, shallowRef } from 'vue'
import { Conductor } from './player/conductor.ts'
import type { PieceSource } from './player/piece.ts'
import { StreamPlayer, type StreamState } from './player/stream-player.ts'

/** Playback speeds, in the order in which the keys select them. */
export const rates = [0.5, 1, 2, 4, 8, 16] as const

/** The player of a page: its clock and streams as reactive state. @param begin first moment */
export function usePlayer(begin: number) {
  const at = shallowRef(begin)
  const playing = shallowRef(false)
  const rate = shallowRef(1)
  const refused = shallowRef(false)
  const states = shallowReactive(new Map<string, StreamState>())
  const players = new Map<string, StreamPlayer>()
  const conductor = new Conductor(begin, update)

  function update(): void {
    at.value = conductor.at
    playing.value = conductor.playing
    rate.value = conductor.rate
    refused.value = conductor.isRefused
    for (const [key, { state }] of players) if (states.get(key) !== state) states.set(key, state)
  }

  function add(key: string, video: HTMLVideoElement, pieces: PieceSource): void {
    const player = new StreamPlayer(video, pieces, update)
    players.set(key, player)
    states.set(key, player.state)
    conductor.add(key, player)
  }

  function remove(key: string): void {
    players.delete(key)
    states.delete(key)
    conductor.remove(key)
  }

  function toggle(): void {
    if (conductor.playing) conductor.pause()
    else conductor.play()
    update()
  }

  function faster(direction: 1 | -1): void {
    const place = rates.findIndex((one) => one >= conductor.rate)
    conductor.setRate(rates[Math.min(rates.length - 1, Math.max(0, place + direction))] ?? 1)
  }

  onBeforeUnmount(() => conductor.close())

  return {
    at,
    playing,
    rate,
    refused,
    states,
    add,
    remove,
    toggle,
    faster,
    seek: (moment: number): Promise<void> => conductor.seek(moment),
    step: (direction: 1 | -1): Promise<void> => conductor.step(direction),
    setRate: (value: number): void => conductor.setRate(value),
    pause: (): void => conductor.pause(),
    videoOf: (key: string): HTMLVideoElement | undefined => players.get(key)?.video,
  }
}
