import { ref, shallowRef } from 'vue'
import type { ProcedureOutput } from '../../../../../shared/console/contract.ts'
import type { FoundCameraView } from '../../../../../shared/console/devices.ts'
import { useConsole } from '../../../composables/useConsole.ts'
import { useFeedback } from '../../../composables/useFeedback.ts'

type FoundStream = ProcedureOutput<'devices.discovered_streams'>['streams'][number]

/** Obstacle to the streams of a camera; empty: none. */
type Obstacle = '' | 'login' | 'wrongLogin' | 'noStreams' | 'gone'

/** Name of a found camera for people. */
export function nameOfFound({ name, model, host }: FoundCameraView): string {
  return name || model || host
}

/** A login as it is sent: without empty parts. */
export function sentLogin(values: { login_name: string; login_password: string }): {
  login_name?: string
  login_password?: string
} {
  const { login_name, login_password } = values
  return { ...(login_name !== '' && { login_name }), ...(login_password !== '' && { login_password }) }
}

/** Substream of a stream: the smallest picture of the camera; empty: none is smaller. */
export function substreamOf(chosen: FoundStream, streams: readonly FoundStream[]): FoundStream | undefined {
  return streams.filter(({ width }) => width > 0 && width < chosen.width).at(-1)
}

/** A camera that a search has found, and its streams. */
export function useFoundCamera() {
  const client = useConsole()
  const { attempt } = useFeedback()
  /** null: none is chosen. */
  const camera = shallowRef<FoundCameraView | null>(null)
  /** Streams that it named, the largest picture first. */
  const streams = shallowRef<readonly FoundStream[]>([])
  const obstacle = ref<Obstacle>('')
  const asking = ref(false)
  let generation = 0

  function clear(): void {
    generation++
    asking.value = false
    camera.value = null
    streams.value = []
    obstacle.value = ''
  }

  /** Chooses a camera, and asks it for its streams. Resolves to whether it named some. */
  async function ask(found: FoundCameraView, values: Parameters<typeof sentLogin>[0]): Promise<boolean> {
    clear()
    const mine = generation
    camera.value = found
    asking.value = true
    const login = sentLogin(values)
    const answer = await attempt(() => client.call('devices.discovered_streams', { id: found.id, ...login }))
    // Another one was chosen meanwhile.
    if (mine !== generation) return false
    asking.value = false
    if (answer === undefined) return false
    streams.value = answer.streams
    if (answer.streams.length > 0) return true
    if (answer.state === 'login') obstacle.value = Object.keys(login).length > 0 ? 'wrongLogin' : 'login'
    else obstacle.value = answer.state === 'gone' ? 'gone' : 'noStreams'
    return false
  }

  return { camera, streams, obstacle, asking, clear, ask }
}
