import { addressCases } from './address-cases.ts'
import { descriptionCases } from './description-cases.ts'
import type { FieldCase } from '../support/field/field-case.ts'
import { dialogueCases } from './dialogue-cases.ts'
import { loginCases } from './login-cases.ts'
import { pictureCases } from './picture-cases.ts'
import { sessionCases } from './session-cases.ts'
import { soundCases } from './sound-cases.ts'
import { timeCases, transportCases } from './transport-cases.ts'

/** Cameras and encoders of the field, by what deviates: an entry for each deviation that the node reads. */
export const corpus = {
  dialogue: dialogueCases,
  sessions: sessionCases,
  addresses: addressCases,
  login: loginCases,
  descriptions: descriptionCases,
  pictures: pictureCases,
  sound: soundCases,
  transport: transportCases,
  timestamps: timeCases,
} as const satisfies Record<string, readonly FieldCase[]>
