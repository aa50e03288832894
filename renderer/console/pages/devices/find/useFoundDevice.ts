import { computed, ref, shallowRef } from 'vue'
import type { FoundCameraView } from '../../../../../shared/console/devices.ts'
import type { useDeviceSetup } from '../useDeviceSetup.ts'
import { nameOfFound, sentLogin, substreamOf, useCameraSearch, useFoundCamera } from './useFoundCamera.ts'

/** Steps of adding a device that is found on the network: search, camera, login, stream. */
export function useFoundDevice(setup: ReturnType<typeof useDeviceSetup>) {
  const search = useCameraSearch()
  const found = useFoundCamera()
  const { camera, streams, obstacle } = found
  const { values } = setup
  /** Whether the address is typed or the camera is searched for. */
  const way = ref<'typed' | 'found'>('typed')
  /** Address of the chosen stream. */
  const chosen = ref('')
  /**
   * Login of the previously added device, because cameras of one site often share it. It is removed when the dialog
   * closes.
   */
  const before = shallowRef<{ name: string; login_name: string; login_password: string } | null>(null)
  const stream = computed(() => streams.value.find(({ address }) => address === chosen.value))
  const substream = computed(() => stream.value && substreamOf(stream.value, streams.value))
  /** Whether the step can continue: there is a stream, or a login to query the streams with. */
  const ready = computed(() => camera.value !== null && obstacle.value !== 'gone' && !found.asking.value)

  async function ask(one: FoundCameraView): Promise<void> {
    chosen.value = ''
    const isNamed = await found.ask(one, values)
    if (isNamed) choose(streams.value[0]?.address ?? '')
    else if (obstacle.value === 'noStreams') {
      way.value = 'typed'
      values.userAddress = `rtsp://${one.host}/`
    }
  }

  /** Chooses a stream, and its substream. */
  function choose(address: string): void {
    chosen.value = address
    values.assist_address = substream.value?.address ?? ''
  }

  async function pick(one: FoundCameraView): Promise<void> {
    setup.restart(true)
    await ask(one)
  }

  /** Returns to the list. */
  function other(): void {
    found.clear()
    setup.restart(true)
  }

  function useLoginBefore(): void {
    if (before.value === null) return
    values.login_name = before.value.login_name
    values.login_password = before.value.login_password
  }

  /** Continues: queries the streams, or probes the chosen one. */
  async function next(): Promise<void> {
    const one = camera.value
    if (one === null || !ready.value) return
    if (stream.value === undefined) await ask(one)
    else setup.takeFound({ address: stream.value.address, host: one.host, name: nameOfFound(one) })
  }

  /** Starts with the next device. After a found device the list is shown again, without another search. */
  function another(): void {
    const { userName, login_name, login_password } = values
    if (Object.keys(sentLogin(values)).length > 0) before.value = { name: userName, login_name, login_password }
    found.clear()
    setup.restart(true)
  }

  function reset(): void {
    way.value = 'typed'
    before.value = null
    search.result.value = undefined
    found.clear()
  }

  return {
    ...found,
    values,
    search,
    way,
    chosen,
    substream,
    before,
    ready,
    stream,
    choose,
    pick,
    other,
    useLoginBefore,
    next,
    another,
    reset,
  }
}

export type FoundDevice = ReturnType<typeof useFoundDevice>
