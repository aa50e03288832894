import { addressCases } from './address-cases.ts'
import { answerCases, controlCases } from './answer-cases.ts'
import { descriptionCases } from './description-cases.ts'
import type { FieldCase } from '../support/field/field-case.ts'
import { dialogueCases } from './dialogue-cases.ts'
import { formatCases } from './format-cases.ts'
import { h265Cases } from './h265-cases.ts'
import { interlacedCases } from './interlaced-cases.ts'
import { loginCases } from './login-cases.ts'
import { pictureCases } from './picture-cases.ts'
import { reportCases } from './report-cases.ts'
import { sessionCases } from './session-cases.ts'
import { soundCases } from './sound-cases.ts'
import { timeCases, transportCases } from './transport-cases.ts'

/** Cameras and encoders of the field, by what deviates: an entry for each deviation that the node reads. */
export const corpus = {
  dialogue: [...dialogueCases, ...answerCases],
  sessions: sessionCases,
  addresses: [...addressCases, ...controlCases],
  login: loginCases,
  descriptions: [...descriptionCases, ...formatCases],
  pictures: [...pictureCases, ...h265Cases, ...interlacedCases],
  sound: soundCases,
  transport: transportCases,
  timestamps: timeCases,
  reports: reportCases,
} as const satisfies Record<string, readonly FieldCase[]>
