import { computed, reactive, ref, shallowRef } from 'vue'
import type { FoundCameraView } from '../../../../shared/console/devices.ts'
import { useConsole } from '../../composables/useConsole.ts'
import { useFeedback } from '../../composables/useFeedback.ts'
import { nameOfFound, sentLogin, substreamOf, useCameraSearch, useFoundCamera } from '../devices/find/useFoundCamera.ts'
import { useProbe } from '../devices/useProbe.ts'
import { useFirstRun } from './useFirstRun.ts'

/** Camera being set up; `found` is null if it is entered by its address. */
interface CameraSource {
  found: FoundCameraView | null
}

/** Chooses, tests and adds a camera. @param added called when it is in the room */
export function useCameraSetup(added: () => void) {
  const client = useConsole()
  const { attempt } = useFeedback()
  const { w, refresh } = useFirstRun()
  const probe = useProbe()
  const source = shallowRef<CameraSource | null>(null)
  const values = reactive({ userAddress: '', assist_address: '', userName: '', login_name: '', login_password: '' })
  const search = useCameraSearch()
  const asked = useFoundCamera()
  const { obstacle, asking } = asked
  const adding = ref(false)
  const busy = computed(() => asking.value || adding.value || probe.running.value)

  function clear(): void {
    probe.forget()
    asked.clear()
    source.value = null
    Object.assign(values, { userAddress: '', assist_address: '', userName: '', login_name: '', login_password: '' })
  }

  /** Chooses a camera to be entered by its address. */
  function enter(): void {
    clear()
    source.value = { found: null }
  }

  /** Chooses a found camera, and queries its streams. */
  async function pick(found: FoundCameraView): Promise<void> {
    clear()
    source.value = { found }
    values.userName = nameOfFound(found)
    await askStreams(found)
  }

  async function askStreams(found: FoundCameraView): Promise<void> {
    const isNamed = await asked.ask(found, values)
    const [first] = asked.streams.value
    if (isNamed && first !== undefined) {
      values.userAddress = first.address
      values.assist_address = substreamOf(first, asked.streams.value)?.address ?? ''
      await testAddress()
    } else if (obstacle.value === 'noStreams') {
      source.value = { found: null }
      values.userAddress = `rtsp://${found.host}/`
    }
  }

  /** Tests the chosen camera with the login of the form, and adds it if the test succeeds. */
  async function test(): Promise<void> {
    obstacle.value = ''
    const found = source.value?.found
    if (found && values.userAddress === '') await askStreams(found)
    else await testAddress()
  }

  async function testAddress(): Promise<void> {
    const login = sentLogin(values)
    await probe.run({ userAddress: values.userAddress, ...login })
    const result = probe.result.value
    if (result?.kind === 'auth') obstacle.value = Object.keys(login).length > 0 ? 'wrongLogin' : 'login'
    if (result?.ok) await add()
  }

  async function add(): Promise<void> {
    adding.value = true
    const { userAddress, assist_address, userName } = values
    const camera = {
      userAddress,
      userName: userName.trim() || (URL.parse(userAddress)?.hostname ?? userAddress),
      ...(assist_address !== '' && { assist_address }),
      ...sentLogin(values),
    }
    const made = await attempt(() => client.call('first_run.add_camera', camera))
    await finish(made !== undefined)
  }

  async function useTestCamera(): Promise<void> {
    clear()
    adding.value = true
    const userName = w.value.camera.testName
    await finish((await attempt(() => client.call('first_run.add_test_camera', { userName }))) !== undefined)
  }

  async function finish(isAdded: boolean): Promise<void> {
    await refresh()
    adding.value = false
    if (!isAdded) return
    clear()
    added()
  }

  return { search, source, values, probe, obstacle, asking, adding, busy, clear, enter, pick, test, add, useTestCamera }
}

export type CameraSetup = ReturnType<typeof useCameraSetup>
