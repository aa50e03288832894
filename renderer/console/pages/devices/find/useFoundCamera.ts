import { ref, shallowRef } from 'vue'
import type { ProcedureOutput } from '../../../../../shared/console/contract.ts'
import type { FoundCameraView } from '../../../../../shared/console/devices.ts'
import { useConsole } from '../../../composables/useConsole.ts'
import { useFeedback } from '../../../composables/useFeedback.ts'

type FoundStream = ProcedureOutput<'devices.discovered_streams'>['streams'][number]

/** Reason why the streams of a camera are unavailable; empty: none. */
type Obstacle = '' | 'login' | 'wrongLogin' | 'noStreams' | 'gone'

/** Returns the display name of a found camera. */
export function nameOfFound({ name, model, host }: FoundCameraView): string {
  return name || model || host
}

/** Returns a login without its empty parts. */
export function sentLogin({ login_name, login_password }: { login_name: string; login_password: string }) {
  return { ...(login_name !== '' && { login_name }), ...(login_password !== '' && { login_password }) }
}

/** Returns the substream for a stream: the camera's smallest picture; undefined: none is smaller. */
export function substreamOf(chosen: FoundStream, streams: readonly FoundStream[]): FoundStream | undefined {
  return streams.filter(({ width }) => width > 0 && width < chosen.width).at(-1)
}

/** A camera that a search has found, and its streams. */
export function useFoundCamera() {
  const client = useConsole()
  const { attempt } = useFeedback()
  const camera = shallowRef<FoundCameraView | null>(null)
  /** Streams that the camera reported, the largest picture first. */
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

  /** Chooses a camera, and queries its streams. Resolves to whether it reported any. */
  async function ask(found: FoundCameraView, values: Parameters<typeof sentLogin>[0]): Promise<boolean> {
    clear()
    const mine = generation
    camera.value = found
    asking.value = true
    const login = sentLogin(values)
    const answer = await attempt(() => client.call('devices.discovered_streams', { id: found.id, ...login }))
    // Another camera was chosen meanwhile.
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

/** A search for cameras on the controller's networks. The result stays until the next search. */
export function useCameraSearch() {
  const client = useConsole()
  const result = shallowRef<ProcedureOutput<'devices.discover'>>()
  const error = shallowRef<unknown>(null)
  const loading = ref(false)

  async function search(): Promise<void> {
    if (loading.value) return
    loading.value = true
    try {
      result.value = await client.call('devices.discover')
      error.value = null
    } catch (reason) {
      result.value = undefined
      error.value = reason
    } finally {
      loading.value = false
    }
  }

  return { result, error, loading, search }
}

export type CameraSearch = ReturnType<typeof useCameraSearch>
