import { onScopeDispose, ref, watch } from 'vue'
import { canChooseSpeaker } from './speaker.ts'
import type { RemoteMedia } from '../session/remote-media.ts'

/**
 * Plays every received sound, separate from the pictures: hidden tiles are still audible.
 * @param sink id of the loudspeaker; empty: the system's
 */
export function useSound(media: () => ReadonlyMap<string, RemoteMedia>, sink: () => string) {
  const players = new Map<MediaStreamTrack, HTMLAudioElement>()
  /** The browser blocks sound until the user interacts with the page. */
  const held = ref(false)

  async function play(element: HTMLAudioElement): Promise<void> {
    try {
      await element.play()
    } catch (error) {
      // An interrupted `play()` is not a refusal.
      if (error instanceof DOMException && error.name === 'NotAllowedError') held.value = true
    }
  }

  /** Selects the output of an element. Keeps the current output if the chosen one is unavailable. */
  async function route(element: HTMLAudioElement): Promise<void> {
    if (!canChooseSpeaker() || element.sinkId === sink()) return
    // If the speaker was unplugged, the output stays.
    await element.setSinkId(sink()).catch(() => {})
  }

  function update(tracks: readonly MediaStreamTrack[]): void {
    for (const [track, element] of players) {
      if (tracks.includes(track)) continue
      element.srcObject = null
      players.delete(track)
    }
    for (const track of tracks) {
      if (players.has(track)) continue
      const element = new Audio()
      element.srcObject = new MediaStream([track])
      void route(element)
      players.set(track, element)
      void play(element)
    }
  }

  watch(() => [...media().values()].flatMap(({ audio }) => audio ?? []), update, { immediate: true })
  watch(sink, () => {
    for (const element of players.values()) void route(element)
  })
  onScopeDispose(() => update([]))

  /** Plays blocked sound. Call it from a user interaction. */
  async function resume(): Promise<void> {
    held.value = false
    await Promise.all(Array.from(players.values(), play))
  }

  return { held, resume }
}
