import { accessLinks } from './access-links.ts'
import { activity } from './activity.ts'
import { credentials } from './credentials.ts'
import { displays } from './displays.ts'
import { edits } from './edits.ts'
import { lab } from './lab.ts'
import { media } from './media.ts'
import { playback } from './playback.ts'
import { restart } from './restart.ts'
import { settings } from './settings.ts'
import { templates } from './templates.ts'
import { tester } from './tester.ts'
import { trash } from './trash.ts'
import { trust } from './trust.ts'
import { updates } from './updates.ts'
import { wall } from './wall.ts'

/** English texts that neither the sign-in page nor the overview needs: loaded with the first of the other pages. */
export const later = {
  accessLinks,
  activity,
  credentials,
  displays,
  edits,
  lab,
  media,
  playback,
  restart,
  settings,
  templates,
  tester,
  trash,
  trust,
  updates,
  wall,
} as const
