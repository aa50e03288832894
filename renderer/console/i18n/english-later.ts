import accessLinks from '../../../texts/en/console/accessLinks.json'
import activity from '../../../texts/en/console/activity.json'
import clientChecks from '../../../texts/en/console/clientChecks.json'
import credentials from '../../../texts/en/console/credentials.json'
import displays from '../../../texts/en/console/displays.json'
import edits from '../../../texts/en/console/edits.json'
import lab from '../../../texts/en/console/lab.json'
import media from '../../../texts/en/console/media.json'
import nodeFindings from '../../../texts/en/console/nodeFindings.json'
import playback from '../../../texts/en/console/playback.json'
import restart from '../../../texts/en/console/restart.json'
import settings from '../../../texts/en/console/settings.json'
import templates from '../../../texts/en/console/templates.json'
import tester from '../../../texts/en/console/tester.json'
import trash from '../../../texts/en/console/trash.json'
import trust from '../../../texts/en/console/trust.json'
import updates from '../../../texts/en/console/updates.json'
import wall from '../../../texts/en/console/wall.json'
import type { ClientCheckId } from '../../../shared/domain/client-checks.ts'
import type { Language } from '../../../shared/languages.ts'
import type { SettingChoice, SettingTexts } from '../../../shared/settings.ts'

/** Texts of the settings: of every setting on a card, and of every value that can be chosen. */
interface OfSettings {
  fields: SettingTexts
  choices: Readonly<Record<Exclude<SettingChoice, Language>, string>>
}

/** English texts that neither the sign-in page nor the overview needs; loaded with the first other page. */
export const later = {
  accessLinks,
  activity,
  clientChecks: clientChecks satisfies { checks: Record<ClientCheckId, { title: string; provoke: string }> },
  credentials,
  displays,
  edits,
  lab,
  media,
  nodeFindings,
  playback,
  restart,
  settings: settings satisfies OfSettings,
  templates,
  tester,
  trash,
  trust,
  updates,
  wall,
}
