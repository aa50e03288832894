import type { z } from 'zod'
import { complaintOfIssue } from '../../../shared/domain/input-problems.ts'
import type { FieldProblem } from '../../../shared/domain/outcome.ts'
import type { ComplaintName } from '../../../shared/refusals/complaints.ts'
import type { RefusalName } from '../../../shared/refusals/refusal.ts'
import type { Values } from '../../../shared/refusals/template.ts'
import complaints from '../../../texts/en/console/complaints.json'
import refusals from '../../../texts/en/console/refusals.json'
import type { Translate } from '../i18n/text.ts'

/** A refusal as received: an older controller omits the name, and a newer one may use unknown names. */
export interface ArrivedRefusal {
  message: string
  name?: string | undefined
  values?: Values | undefined
}

const isRefusal = (name: string): name is RefusalName => Object.hasOwn(refusals, name)
const isComplaint = (name: string): name is ComplaintName => Object.hasOwn(complaints, name)

/** Returns a refusal in the operator's language; an unknown one keeps the controller's message. */
export function refusalText({ message, name = '', values = {} }: ArrivedRefusal, t: Translate): string {
  if (name === 'roleMissing' && values.role === 'admin') return t('errors.adminOnly')
  if (name === 'roleMissing' && values.role === 'operator') return t('errors.operatorOnly')
  return isRefusal(name) ? t(`refusals.${name}`, worded(values, t)) : message
}

/** Returns a problem of a field in the operator's language, to be shown beside the field. */
export function problemText(problem: Omit<FieldProblem, 'path'>, t: Translate): string {
  const { name = '', values = {} } = problem
  return isComplaint(name) ? t(`complaints.${name}`, { ...values }) : refusalText(problem, t)
}

/** Returns a schema issue of a field in the operator's language. @param value value of the field */
export function issueText(issue: z.core.$ZodIssue, value: unknown, t: Translate): string {
  if (value === undefined || value === null || value === '') return t('complaints.missing')
  return problemText(complaintOfIssue(issue, value), t)
}

/** Replaces the name of a role in the values by its text in the operator's language. */
function worded(values: Values, t: Translate): Record<string, string | number> {
  const { role } = values
  if (role !== 'viewer' && role !== 'operator' && role !== 'admin') return { ...values }
  return { ...values, role: t(`accounts.roles.${role}`) }
}
