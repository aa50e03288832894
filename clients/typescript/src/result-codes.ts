// Generated from the contract in shared/ by `npm run client-kit`: do not edit.

import type { ApiName } from './operations.ts'

/** Result codes of failures on each API. A code may stand for several errors. */
export const resultCodes = {
  media: {
    /** access_key or digest is wrong. */
    authenticationFailed: 401,
    /** Too many failed authentications from this address: wait a minute. */
    tooManyFailures: 401,
    /** The authentication was not answered in time: try again. */
    authenticationTimeout: 504,
    /** The access token is missing, wrong or expired: authenticate again. */
    tokenIncorrect: 602,
    /** A parameter is missing or malformed. */
    parameter: 407,
    /** This path or method does not exist. */
    notSupported: 408,
    /** There is no such room. */
    roomNotFound: 404,
    /** The room is closed. */
    roomClosed: 416,
    /** The licence of this site has expired. */
    licenceExpired: 405,
    /** The licence or the MCU nodes of this site are at their limit. */
    licenceExceeded: 411,
    /** No MCU is available for this room. */
    noNode: 410,
    /** The MCU did not answer in time. */
    nodeTimeout: 409,
    /** The MCU of this room is not online. */
    nodeOffline: 417,
    /** This room was never assigned to an MCU. */
    neverAssigned: 428,
    /** The user is not in this room. */
    userNotOnline: 429,
    /** There is no such recording or live stream. */
    recordingNotFound: 430,
    /** Nothing can be recorded in this room at the moment. */
    recordingUnavailable: 431,
    /** This credential has no permission for P2P rooms (room_mode 3 and 4). */
    noP2pPermission: 701,
    /** The change could not be stored: nothing was changed. */
    storage: 700,
    /** An internal error occurred and was logged. */
    internal: 700,
  },
  device: {
    /** access_key or digest is wrong. */
    authenticationFailed: 401,
    /** Too many failed authentications from this address: wait a minute. */
    tooManyFailures: 401,
    /** The authentication was not answered in time: try again. */
    authenticationTimeout: 310,
    /** The access token is missing, wrong or expired: authenticate again. */
    tokenIncorrect: 401,
    /** A parameter is missing or malformed. */
    parameter: 401,
    /** This path or method does not exist. */
    notSupported: 401,
    /** There is no such room. */
    roomNotFound: 424,
    /** The room is closed. */
    roomClosed: 424,
    /** The licence of this site has expired. */
    licenceExpired: 426,
    /** The licence or the MCU nodes of this site are at their limit. */
    licenceExceeded: 426,
    /** No MCU is available for this room. */
    noNode: 426,
    /** The MCU did not answer in time. */
    nodeTimeout: 310,
    /** The MCU of this room is not online. */
    nodeOffline: 426,
    /** The user is not in this room. */
    userNotOnline: 425,
    /** There is no such recording or live stream. */
    recordingNotFound: 430,
    /** Nothing can be recorded in this room at the moment. */
    recordingUnavailable: 302,
    /** A user with this userId exists already. */
    userExists: 423,
    /** There is no such outgoing user in this room. */
    outgoingUserNotFound: 425,
    /** Joining the room failed. */
    joinFailed: 426,
    /** The device did not answer in time. */
    joinTimeout: 427,
    /** The outgoing user could not be created: the media engine is not running. */
    createUnavailable: 302,
    /** The outgoing user could not be deleted: the media engine is not running. */
    destroyUnavailable: 303,
    /** Outgoing users cannot be listed: the media engine is not running. */
    listUnavailable: 304,
  },
} as const satisfies Record<ApiName, Record<string, number>>

/** Name of an error. */
export type ErrorName = keyof (typeof resultCodes)['media'] | keyof (typeof resultCodes)['device']

/** Forms of a digest: the hash, and whether its hexadecimal text or its bytes are encoded in base64. */
export const digestForms = ['sha1-hex', 'sha1-raw', 'sha256-hex', 'sha256-raw'] as const

export type DigestForm = (typeof digestForms)[number]
