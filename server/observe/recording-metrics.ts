import { Gauge, type Registry } from 'prom-client'

/** Facts of recordings, read at each scrape. */
export interface RecordingFigures {
  bytes: number
  segments: number
  kept_bytes: number
  free: number
  reserve: number
  rate: number
  disk_late_ms: number
  streams: number
  deleting: number
  usable: boolean
  objects: {
    waiting: number
    waiting_bytes: number
    oldest_at: number
    stored_bytes: number
    problem: string | null
  } | null
  problems: readonly { code: string }[]
}

/** Adds gauges of recordings and their disk space. */
export function addRecordingGauges(registry: Registry, read: () => RecordingFigures): void {
  const gauges: [string, string, (figures: RecordingFigures) => number][] = [
    ['bytes', 'Size of all recordings.', ({ bytes }) => bytes],
    ['kept_bytes', 'Size of the recordings that are kept whatever the retention.', ({ kept_bytes }) => kept_bytes],
    ['segments', 'Number of segments of recordings.', ({ segments }) => segments],
    ['streams', 'Streams that are recorded now.', ({ streams }) => streams],
    [
      'disk_late_seconds',
      'Age of the oldest media that a power cut would take besides a group of pictures; 0 while the disk keeps up.',
      ({ disk_late_ms }) => disk_late_ms / 1_000,
    ],
    ['bytes_per_second', 'Rate of recording over the last ten minutes.', ({ rate }) => rate],
    ['free_bytes', 'Free space of the disk of the recordings.', ({ free }) => free],
    ['reserve_bytes', 'Space that stays free on that disk: recording stops before.', ({ reserve }) => reserve],
    ['files_to_remove', 'Files of deleted recordings that are still on the disk.', ({ deleting }) => deleting],
    [
      'objects_waiting',
      'Finished segments that wait for their upload to object storage.',
      ({ objects }) => objects?.waiting ?? 0,
    ],
    ['objects_waiting_bytes', 'Size of these segments.', ({ objects }) => objects?.waiting_bytes ?? 0],
    [
      'objects_waiting_seconds',
      'Age of the oldest of these segments.',
      ({ objects }) => (objects === null || objects.oldest_at === 0 ? 0 : (Date.now() - objects.oldest_at) / 1_000),
    ],
    ['objects_bytes', 'Size of the segments in object storage.', ({ objects }) => objects?.stored_bytes ?? 0],
    [
      'objects_failed',
      '1 while object storage cannot be used.',
      ({ objects }) => Number((objects?.problem ?? null) !== null),
    ],
    ['usable', '1 while the folder of the recordings can be used.', ({ usable }) => Number(usable)],
    [
      'storage_low',
      '1 while recording is stopped because the disk is nearly full.',
      ({ problems }) => Number(problems.some(({ code }) => code === 'storageLow')),
    ],
  ]
  // All gauges of a scrape share one status, which the first collected gauge reads.
  const collect = (): void => {
    const figures = read()
    for (const { gauge, value } of made) gauge.set(value(figures))
  }
  const made = gauges.map(([name, help, value], at) => {
    const options = { name: `roomdesk_recording_${name}`, help, registers: [registry] }
    return { gauge: new Gauge(at === 0 ? { ...options, collect } : options), value }
  })
}
