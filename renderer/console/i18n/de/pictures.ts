import type { Texts } from '../text.ts'
import type { pictures as english } from '../en/pictures.ts'

export const pictures: Texts<typeof english> = {
  labels: {
    every_minutes: 'Abstand (Minuten)',
    per_camera: 'Bilder pro Kamera',
    megabytes: 'Speicherplatz (MB)',
    days: 'Tage',
  },
  hints: {
    every_minutes: '0 = aus. Nur Kameras auf eingebauten Knoten.',
    per_camera: 'Die ältesten werden gelöscht.',
    megabytes: 'Für alle Kameras zusammen; die ältesten werden gelöscht. Ein Bild braucht 50 bis 300 kB.',
    days: '',
  },
}
