import type { Ref } from 'vue'
import { saveFile } from '../../../kit/composables/saveFile.ts'
import { snapshot, snapshotName } from '../../../kit/media/snapshot.ts'
import { useConsole } from '../../composables/useConsole.ts'
import { useFeedback } from '../../composables/useFeedback.ts'
import { useFormat } from '../../composables/useFormat.ts'
import { useText } from '../../i18n/text.ts'
import type { TimeView } from './axis.ts'
import type { RecordingStream } from '../../../../shared/domain/recordings.ts'

/** Actions on the selected time span of the chosen streams: keep, delete, save pictures. */
export function useSpanActs(parts: {
  streams: Readonly<Ref<readonly RecordingStream[]>>
  selection: Readonly<Ref<TimeView | null>>
  read: () => Promise<void>
  nameOfKey: (key: string) => string
}) {
  const client = useConsole()
  const { t } = useText()
  const { period, size } = useFormat()
  const { attempt, ask } = useFeedback()

  const selected = () => {
    const span = parts.selection.value
    return span === null
      ? undefined
      : { streams: [...parts.streams.value], from: Math.round(span.from), to: Math.round(span.to) }
  }

  async function keep(): Promise<void> {
    const wanted = selected()
    if (wanted === undefined) return
    await attempt(
      () => client.call('recordings.keep', wanted),
      ({ segments }) => t('playback.kept', { n: segments }),
    )
    await parts.read()
  }

  async function remove(): Promise<void> {
    const wanted = selected()
    if (wanted === undefined) return
    const { streams, from, to } = wanted
    const sure = await ask({
      title: t('playback.deleteTitle'),
      body: t('playback.deleteBody', { span: period(from, to) }),
      losses: [t('playback.deleteLoss', { n: streams.length })],
      action: t('words.delete'),
    })
    if (!sure) return
    await attempt(
      () => client.call('recordings.delete', { streams, from, to }),
      ({ segments, bytes, kept }) =>
        kept === 0
          ? t('playback.deleted', { n: segments, size: size(bytes) })
          : t('playback.deletedSome', { n: segments, size: size(bytes), kept }),
    )
    await parts.read()
  }

  async function saveSnapshot(key: string, video: HTMLVideoElement, at: number): Promise<void> {
    await attempt(async () => saveFile(snapshotName(parts.nameOfKey(key), new Date(at)), await snapshot(video)))
  }

  return { keep, remove, saveSnapshot }
}
