import { type DeviceErrorKind, deviceErrorMessages } from '../../../shared/device.ts'
import { ExpectedError } from '../../../shared/expected-error.ts'

/** Error of a device that could not be added to a room. The message is for the log and contains no credentials. */
export class DeviceFailure extends ExpectedError {
  readonly kind: DeviceErrorKind
  /** See RtspError. */
  readonly detail: string
  constructor(
    kind: DeviceErrorKind,
    message: string = deviceErrorMessages[kind],
    options: ErrorOptions & { detail?: string } = {},
  ) {
    super(message, options)
    this.name = 'DeviceFailure'
    this.kind = kind
    this.detail = options.detail ?? ''
  }
}
